package import Capabilities

extension ChatRequest {
    /// Whether members that no dialect knows are for a server of this one: those of a client go to no other.
    package func mayCarryExtras(to dialect: RequestDialect) -> Bool { native.map { $0.dialect == dialect } ?? true }
}
