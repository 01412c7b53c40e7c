# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
#
# nlohmann_json::nlohmann_json: the reports of the tool.

find_package(nlohmann_json 3.11 REQUIRED)
