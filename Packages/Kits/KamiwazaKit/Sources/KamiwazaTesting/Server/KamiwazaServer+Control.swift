extension KamiwazaServer {
    // MARK: Faults

    /// Makes a path fail, always or so many times. The path is the whole one, such as `/api/auth/token`.
    public func fail(_ path: String, with fault: Fault, times: Int = .max) {
        board.change { $0.faults[path] = (fault, times) }
    }

    /// Makes a path work again, and lets go what was held there.
    public func heal(_ path: String) {
        board.change { $0.faults[path] = nil }
    }

    // MARK: What an administrator does

    /// Ends every session: neither its access token nor its refresh token is good for anything any more.
    public func endSessions() {
        board.change { platform in
            platform.endedSessions.formUnion(platform.access.values.map(\.session))
        }
    }

    /// Revokes every personal access token.
    public func revokePersonalTokens() {
        board.change { platform in
            for index in platform.personal.indices { platform.personal[index].isRevoked = true }
        }
    }

    /// Changes an account while the platform runs, such as to lock it.
    public func changeAccount(_ name: String, _ change: (inout KamiwazaSetup.Account) -> Void) {
        board.change { platform in
            for index in platform.accounts.indices where platform.accounts[index].name == name {
                change(&platform.accounts[index])
            }
        }
    }

    // MARK: What somebody at a browser does for a device

    /// The code that the newest waiting device shows.
    public var userCode: String? { board.platform.devices.last?.userCode }

    public func approveDevice(_ userCode: String, as account: String = "ada") {
        board.change { $0.answerDevice(userCode, .approved(account)) }
    }

    public func denyDevice(_ userCode: String) {
        board.change { $0.answerDevice(userCode, .denied) }
    }
}
