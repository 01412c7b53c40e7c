# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Runs `program` in the empty folder `work_folder`, compares what it prints with the file `expected`
# and removes the folder.

file(REMOVE_RECURSE "${work_folder}")
file(MAKE_DIRECTORY "${work_folder}")
execute_process(COMMAND "${CMAKE_COMMAND}" -E env "OUTSIZE_TMPDIR=${work_folder}" "${program}"
  WORKING_DIRECTORY "${work_folder}"
  RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE complaint)
file(REMOVE_RECURSE "${work_folder}")
file(READ "${expected}" wanted)
if(NOT status EQUAL 0 OR NOT printed STREQUAL wanted)
  message(FATAL_ERROR "exit status ${status}\n${complaint}printed:\n${printed}expected:\n${wanted}")
endif()
