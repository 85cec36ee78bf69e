import Capabilities

extension ToolMode {
    func allows(_ request: ApprovalRequest) -> Bool {
        if request.effect == .reads { return true }
        if let command = request.reach.command { return self == .full && command.isSandboxed }
        return self != .readOnly && request.reach.onlyWritesPaths
    }
}
