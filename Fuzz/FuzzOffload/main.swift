// SPDX-License-Identifier: MIT

internal import FuzzChecks
internal import FuzzDriver

FuzzDriver.run(.offload)
