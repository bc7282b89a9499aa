"""What a component is: a name with typed parameters, a CI test, a transform, and the specs that name them."""
