import Capabilities
import Glibc
import HostKit
import Testing

/// A process can use the loop only once, so each test runs in its own process.
@Suite("MainLoop", .timeLimit(.minutes(5)))
struct MainLoopTests {
    @Test("The main loop returns the exit code of its work") func result() async {
        await #expect(processExitsWith: .exitCode(5)) {
            exit(MainLoop.run { _ in .toolFailed }.rawValue)
        }
    }

    @Test("A signal cancels the work, and determines the exit code") func interrupted() async {
        await #expect(processExitsWith: .exitCode(130)) {
            let code = MainLoop.run { _ in
                kill(getpid(), SIGINT)
                do { try await Task.sleep(for: .seconds(600)) } catch { return .done }
                return .failed
            }
            exit(code.rawValue)
        }
        await #expect(processExitsWith: .exitCode(143)) {
            let code = MainLoop.run { _ in
                kill(getpid(), SIGTERM)
                do { try await Task.sleep(for: .seconds(600)) } catch { return .failed }
                return .done
            }
            exit(code.rawValue)
        }
    }

    @Test("The work can clean up at every signal that ends a program") func otherEndings() async {
        await #expect(processExitsWith: .exitCode(143)) { await Ended.by(SIGQUIT) }
        await #expect(processExitsWith: .exitCode(143)) { await Ended.by(SIGUSR1) }
        await #expect(processExitsWith: .exitCode(143)) { await Ended.by(SIGUSR2) }
        await #expect(processExitsWith: .exitCode(143)) { await Ended.by(SIGALRM) }
    }

    @Test("Work that does not end is abandoned after the patience") func patience() async {
        await #expect(processExitsWith: .exitCode(143)) {
            let code = MainLoop.run(patience: .milliseconds(100)) { _ in
                kill(getpid(), SIGTERM)
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return .done
            }
            exit(code.rawValue)
        }
    }

    @Test("Work may move to another executor and come back") func returns() async {
        await #expect(processExitsWith: .exitCode(1)) {
            let code = MainLoop.run { loop in
                var sum = 0
                for number in 1...1000 {
                    sum += await withTaskExecutorPreference(globalConcurrentExecutor) { await Task { number }.value }
                    await withTaskExecutorPreference(loop) { sum -= number }
                }
                return sum == 0 ? .failed : .done
            }
            exit(code.rawValue)
        }
    }
}

private enum Ended {
    /// Exits with the loop's code only if the work was cancelled properly.
    static func by(_ signal: Int32) async {
        let code = await MainActor.run {
            MainLoop.run { _ in
                kill(getpid(), signal)
                do { try await Task.sleep(for: .seconds(600)) } catch { return .done }
                exit(1)
            }
        }
        exit(code.rawValue)
    }
}
