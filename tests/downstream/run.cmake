# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# Installs build_folder into a fresh prefix below work_folder, configures and builds
# project_folder against it, runs the program and removes everything again.

function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${work_folder}")
step(${CMAKE_COMMAND} --install "${build_folder}" --prefix "${work_folder}/prefix")
step(${CMAKE_COMMAND} -G Ninja -S "${project_folder}" -B "${work_folder}/build"
  "-DCMAKE_PREFIX_PATH=${work_folder}/prefix" "-DCMAKE_CXX_COMPILER=${compiler}")
step(${CMAKE_COMMAND} --build "${work_folder}/build")
step("${work_folder}/build/sort_numbers")
file(REMOVE_RECURSE "${work_folder}")
