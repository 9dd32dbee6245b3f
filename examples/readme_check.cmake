# The README shows the first example whole; a reader copies it, so it must be the one that the tests run.
file(READ ${ROOT}/README.md readme)
file(READ ${ROOT}/examples/1_first_transaction.cpp example)
string(FIND "${readme}" "```cpp\n${example}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md does not show examples/1_first_transaction.cpp as it is; copy it there")
endif()
