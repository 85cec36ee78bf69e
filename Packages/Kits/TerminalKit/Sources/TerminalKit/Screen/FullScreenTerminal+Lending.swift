import CTerminalKit
import Glibc
import LoopKit

extension FullScreenTerminal {
    /// Lends the terminal to a program such as an editor, and waits for its end.
    ///
    /// The screen is left, and the program is the job in the foreground, with this process's standard streams. When it
    /// ends, the screen is shown again, and ``read(limit:)`` reports `continued`. If the program stops (Ctrl-Z), this
    /// one stops too, and `fg` continues both. Programs with a window of their own need no terminal, and
    /// should be started without this.
    ///
    /// Meanwhile frames are ``Offer/hidden``, and a read gets nothing of what is typed. Cancellation does not end the
    /// program. Throws if the program could not be started, and `busy` while another one has the terminal.
    ///
    /// - Parameters:
    ///   - command: the program, by path or name, and its arguments.
    ///   - environment: the variables of the program, by default those of this process.
    /// - Returns: the exit status as a shell says it.
    public nonisolated(nonsending) func lend(
        to command: [String], environment: [String: String]? = nil
    ) async throws(TerminalError) -> Int32 {
        try beginLending()
        defer { endLending() }
        let (error, status) = try await run(command, environment)
        guard error == 0 else {
            throw TerminalError(
                .system, "cannot run \(Sanitizer.sanitize(command.first ?? "")); check that it is installed",
                errno: error)
        }
        return status
    }

    private nonisolated(nonsending) func run(
        _ command: [String], _ environment: [String: String]?
    ) async throws(TerminalError) -> (error: Int32, status: Int32) {
        do throws(LoopError) {
            return try await onOwnThread { [self] in
                var status: Int32 = 0
                let arguments = CStrings(command)
                let variables = environment.map { CStrings($0.map { "\($0.key)=\($0.value)" }) }
                let error = unsafe martlet_screen_run(
                    device.descriptor, arguments.pointers, variables?.pointers ?? environ, &status)
                return (error, status)
            }
        } catch {
            throw TerminalError(.system, "cannot start a thread to wait for a program", errno: error.errno)
        }
    }
}

/// An array of C strings that ends with null, for as long as it lives.
@safe private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        unsafe pointers = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { unsafe (pointers + index).initialize(to: strdup(string)) }
        unsafe (pointers + strings.count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
