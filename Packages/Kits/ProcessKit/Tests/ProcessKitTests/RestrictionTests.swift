import CoreTesting
import Glibc
import ProcessKit
import Testing

@Suite("Restrictions of a child", .timeLimit(.minutes(10)))
struct RestrictionTests {
    private let launcher = Launcher.standalone

    @Test(
        "Restrictions that cannot be applied have their own error, and the child is not started",
        arguments: [false, true])
    func refused(isSupervised: Bool) async throws {
        try await TemporaryDirectory.run { folder in
            var command = script("touch \(folder)/ran")
            command.endsDescendants = isSupervised
            // This descriptor is not a Landlock ruleset.
            let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            defer { close(null) }
            command.restriction = Command.Restriction(ruleset: null, filter: [6, 0, 0, 0, 0, 0, 0xFF, 0x7F])
            let error = await #expect(throws: ProcessError.self) {
                try await launcher.run(command, timeout: .seconds(60))
            }
            #expect(error?.kind == .notRestricted && error?.message.hasPrefix("cannot restrict sh: ") == true)
            command.restriction = Command.Restriction(ruleset: null, filter: [])
            await #expect(throws: ProcessError.self) { try await launcher.run(command, timeout: .seconds(60)) }
            #expect(unsafe access("\(folder)/ran", F_OK) != 0)
        }
    }

    @Test("A child's limits also apply to its descendants, including the hard limits")
    func limits() async throws {
        var command = script("ulimit -H -p; ulimit -S -p; sh -c 'ulimit -H -d; ulimit -S -d'")
        (command.mostTasks, command.mostData) = (54_321, 1 << 30)
        let done = try await launcher.run(command, timeout: .seconds(60))
        #expect(text(done.output) == "54321\n54321\n1048576\n1048576\n")
    }
}
