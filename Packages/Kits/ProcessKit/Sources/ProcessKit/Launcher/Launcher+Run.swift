extension Launcher {
    /// What a command left behind.
    public struct Completion: Sendable {
        /// How it ended.
        public let status: ChildStatus
        /// All of its results.
        public let output: [UInt8]
        /// The last of its messages.
        public let errors: [UInt8]
    }

    /// Runs a command to its end and collects its results.
    ///
    /// It is over when the command itself ends, even if something that it started still holds the pipe; that is killed.
    /// Throws `.outputTooLarge`, or `.timedOut` after `timeout`; the group is ended in both cases, within `grace`.
    public func run(
        _ command: Command, outputLimit: Int = 1 << 24, timeout: Duration, grace: Duration = .seconds(2)
    ) async throws -> Completion {
        var command = command
        command.output = .pipe
        if case .pipe = command.errors { command.errors = .tail() }
        return try await withThrowingTaskGroup(of: Completion?.self) { [command] group in
            group.addTask {
                try await self.withChild(command, grace: grace) { try await $0.completion(outputLimit: outputLimit) }
            }
            group.addTask {
                try await ContinuousClock().sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            guard let completion = try await group.next() ?? nil else {
                throw ProcessError(.timedOut, "\(command.executable) took longer than \(timeout) and was ended")
            }
            return completion
        }
    }
}

extension ChildProcess {
    fileprivate func completion(outputLimit: Int) async throws -> Launcher.Completion {
        let output = try output
        let status = try await withThrowingTaskGroup(of: ChildStatus?.self) { group in
            group.addTask {
                try await output.collect(limit: outputLimit)
                return nil
            }
            group.addTask { try await self.exitStatus() }
            defer { group.cancelAll() }
            while let finished = try await group.next() {
                if let status = finished { return status }
            }
            throw CancellationError()
        }
        // Whoever else still holds the pipe must not add to the output after this.
        send(.kill)
        return Launcher.Completion(
            status: status, output: try output.takeRest(limit: outputLimit), errors: errorTail)
    }
}
