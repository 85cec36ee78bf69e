import CProcessKit
import Glibc
import LoopKit

extension Launcher {
    /// Runs a program for the person at the terminal, such as an editor, and waits for its end without a limit.
    ///
    /// The program has the terminal to itself: Ctrl-C reaches only it, and when it is stopped with Ctrl-Z this process
    /// stops too, until the shell continues both. Without a terminal it just shares the standard streams. When the task
    /// is cancelled the program is asked to terminate.
    public func runInForeground(_ command: Command) async throws -> ChildStatus {
        var command = command
        (command.input, command.output, command.errors) = (.inherit, .inherit, .inherit)
        // It ends with its terminal.
        (command.endsWithParent, command.endsDescendants) = (false, false)
        try requireCaller(for: command)
        try Task.checkCancellation()
        processkit_settle_signals()
        let terminal = Terminal()
        let spawn: Spawn
        do throws(ProcessError) {
            spawn = try Spawn(command, terminal: terminal.descriptor)
        } catch {
            // The program that could not start may have been given the terminal already.
            terminal.takeBack()
            throw error
        }
        let foreground = ForegroundChild(spawn, terminal)
        return try await withTaskCancellationHandler {
            do throws(LoopError) {
                return try await onOwnThread { foreground.wait() }
            } catch {
                // Without a thread to wait on, the child must not stay; a killed one is waited for in no time.
                foreground.send(.kill)
                _ = foreground.wait()
                throw ProcessError.watching(error)
            }
        } onCancel: {
            foreground.send(.terminate)
        }
    }
}
