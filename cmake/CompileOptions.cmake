# The compile options of our own targets; none of them reaches whoever links the library.
function(knnmi_compile_options target)
  # Results are the same bits everywhere, so a compiler must not fuse a * b + c where the processor happens to be able to.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)
  if(KNNMI_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(KNNMI_SANITIZE)
    set(sanitize -fsanitize=${KNNMI_SANITIZE} -fno-sanitize-recover=all)
    target_compile_options(${target} PRIVATE ${sanitize} -O1 -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
    target_link_options(${target} PRIVATE ${sanitize})
  endif()
  set_target_properties(
    ${target} PROPERTIES CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  )
endfunction()
