// SPDX-License-Identifier: MIT

// Embedders of the agent import one module.
@_exported public import AgentCore
@_exported public import AgentHost
@_exported public import AgentStore
