# Checks that no code compiled for a wide instruction set can end up in a program for a narrow one. A function that a
# compiler leaves out of line, say of std::vector, is a weak symbol, of which a linker keeps any one copy. So all that a
# kernel file defines must be in the namespace of its instruction set.
#   cmake -DNM=nm -DOBJECTS=a.o,b.o -P KernelSymbols.cmake
string(REPLACE "," ";" OBJECTS "${OBJECTS}")
list(FILTER OBJECTS INCLUDE REGEX "kernels[/_](plain|avx2|avx512)\\.")
if(NOT OBJECTS)
  message(FATAL_ERROR "no kernel file among the objects")
endif()
foreach(object IN LISTS OBJECTS)
  execute_process(
    COMMAND ${NM} --demangle --defined-only --extern-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY
  )
  string(REGEX REPLACE "\n$" "" symbols "${symbols}")
  string(REPLACE "\n" ";" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    if(NOT symbol MATCHES "knnmi::(regression::)?(plain|avx2|avx512)(_kernels$|_block_kernels$|::)")
      message(SEND_ERROR "${object} defines ${symbol}, which is not its own")
    endif()
  endforeach()
endforeach()
