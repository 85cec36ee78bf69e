import CoreTesting
import FileKit
import HTTPTesting
import JSON
import ProcessKit
import Testing

@testable import Gateway

@Suite("systemd unit files")
struct SystemdUnitTests {
    @Test(
        "systemd accepts the unit files, whatever the program is called",
        arguments: ["sleep", "a program", "50% $HOME", "wein\"gut", "back\\slash"])
    func accepted(name: String) async throws {
        try await TemporaryDirectory.run { folder in
            let program = "\(folder)/\(name)"
            try Files.writeAtomically(try Files.read("/bin/true", limit: 1 << 20), to: program, mode: 0o755)
            let unit = SystemdUnit(program: program, address: "::1", port: 6278)
            try write(unit.service, to: "\(folder)/units/martlet-gateway.service")
            try write(unit.socket, to: "\(folder)/units/martlet-gateway.socket")
            var command = Command(
                "systemd-analyze",
                [
                    "--user", "verify", "--man=no", "\(folder)/units/martlet-gateway.service",
                    "\(folder)/units/martlet-gateway.socket",
                ],
                environment: CommandEnvironment([
                    "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": folder, "HOME": folder,
                ]))
            command.output = .pipe
            let result = try await Launcher.standalone.run(command, timeout: .seconds(30))
            let words = String(decoding: result.errors, as: UTF8.self)
            #expect(result.status == .exited(0), "\(words)")
            // A missing program is reported in the output, not by the exit code.
            #expect(!words.contains("martlet-gateway"), "\(words)")
        }
    }

    @Test("The unit files have the address from the settings")
    func listens() async throws {
        let host = try TestHost(
            [MemoryVault.self, GatewayFeature.self], settings: "{gateway: {address: '::1', port: 7000}}")
        let socket = try await host.perform("gateway.unit", ["part": "socket"]).string
        #expect(socket?.contains("ListenStream=[::1]:7000\n") == true)
        #expect(try await host.perform("gateway.unit").string?.contains(" gateway serve\n") == true)
    }
}
