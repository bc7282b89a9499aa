# Times the steps of R's huge on the data of one CSV file and prints a JSON object of seconds.
#
# Usage: Rscript huge.R DATA.csv
#
# huge calls R's garbage collector on purpose in every step. "huge" is the package as it ships,
# "huge_no_gc" the same functions with those calls made empty; the results are the same.

suppressMessages({
  library(huge)
  library(jsonlite)
})

x <- as.matrix(read.csv(commandArgs(trailingOnly = TRUE)[1], header = FALSE))

without_gc <- new.env(parent = asNamespace("huge"))
without_gc$gc <- function(...) invisible(NULL)
for (name in c("huge", "huge.mb", "huge.glasso", "huge.select")) {
  fun <- get(name, asNamespace("huge"))
  environment(fun) <- without_gc
  assign(name, fun, without_gc)
}

# The mean over as many calls as take a fifth of a second: the clock ticks in milliseconds.
seconds <- function(call) {
  started <- proc.time()[["elapsed"]]
  calls <- 0
  repeat {
    call()
    calls <- calls + 1
    taken <- proc.time()[["elapsed"]] - started
    if (taken > 0.2) return(taken / calls)
  }
}

steps <- function(env) {
  fit <- function(method) {
    env$huge(x, method = method, nlambda = 20, lambda.min.ratio = 0.01, verbose = FALSE)
  }
  select <- function(est, criterion) env$huge.select(est, criterion, verbose = FALSE)
  glasso <- fit("glasso")
  mb <- fit("mb")
  list(
    glasso_path = seconds(function() fit("glasso")),
    neighbourhood_path = seconds(function() fit("mb")),
    glasso_stars = seconds(function() select(glasso, "stars")),
    neighbourhood_stars = seconds(function() select(mb, "stars")),
    ric = seconds(function() select(glasso, "ric")),
    ebic = seconds(function() select(glasso, "ebic"))
  )
}

cat(toJSON(
  list(huge = steps(asNamespace("huge")), huge_no_gc = steps(without_gc)),
  auto_unbox = TRUE, digits = 8
))
