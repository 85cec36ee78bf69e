import FileKit
import Glibc
import Testing

@Suite("Application directories")
struct DirectoriesTests {
    private func directories(_ environment: [String: String], userID: UInt32? = nil) -> Directories {
        Directories(application: "app", override: "APP_HOME", environment: environment, userID: userID)
    }

    @Test("Without variables the directories are in the home directory")
    func defaults() throws {
        let places = directories(["HOME": "/home/u"])
        #expect(try places.config == "/home/u/.config/app")
        #expect(try places.data == "/home/u/.local/share/app")
        #expect(try places.state == "/home/u/.local/state/app")
        #expect(try places.cache == "/home/u/.cache/app")
        #expect(try places.runtime == nil)
        #expect(places.systemConfig == ["/etc/xdg/app"])
    }

    @Test("Absolute XDG variables are used, and relative and empty ones are ignored")
    func variables() throws {
        let places = directories([
            "HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "relative", "XDG_STATE_HOME": "",
            "XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_DIRS": "/a:relative::/b",
        ])
        #expect(try places.config == "/c/app")
        #expect(try places.data == "/h/.local/share/app")
        #expect(try places.state == "/h/.local/state/app")
        #expect(try places.runtime == "/run/user/7/app")
        #expect(places.systemConfig == ["/a/app", "/b/app"])
    }

    @Test("The override moves all user directories")
    func override() throws {
        let places = directories(["HOME": "/h", "XDG_CONFIG_HOME": "/c", "APP_HOME": "/o"])
        #expect(
            try [places.config, places.data, places.state, places.cache] == [
                "/o/config", "/o/data", "/o/state", "/o/cache",
            ])
        #expect(try places.runtime == "/o/runtime")
        #expect(places.systemConfig == ["/etc/xdg/app"])
    }

    @Test("A relative override is refused when it is used")
    func relativeOverride() {
        let places = directories(["HOME": "/h", "APP_HOME": "here"])
        let error = #expect(throws: FileError.self) { try places.config }
        #expect(error?.message == "cannot use here: APP_HOME must be an absolute path")
    }

    @Test("Without HOME the home directory comes from the user database")
    func userDatabase() throws {
        let users = String(decoding: try Files.read("/etc/passwd", limit: 1 << 20), as: UTF8.self)
        let records = users.split(separator: "\n").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
        let home = try #require(records.first { $0.count == 7 && $0[2] == "\(getuid())" })[5]
        #expect(try directories([:]).config == "\(home)/.config/app")
    }

    @Test("A user without a home directory gets an error that names the variable to set")
    func noHome() {
        let error = #expect(throws: FileError.self) { try directories([:], userID: 4_000_000_000).config }
        #expect(error?.kind == .noHome)
        #expect(error?.message.contains("set HOME or APP_HOME") == true)
    }

    @Test("The environment snapshot has the variables that the program was started with")
    func environment() throws {
        let variables = Environment.snapshot()
        let bytes = try Files.read("/proc/self/environ", limit: 1 << 22)
        let started = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        try #require(!started.isEmpty)
        for entry in started.filter({ $0.contains("=") }) {
            let name = String(entry.prefix { $0 != "=" })
            #expect(variables[name] == String(entry.dropFirst(name.count + 1)))
        }
    }

    @Test("Taking the environment removes its secrets from the process")
    func takenEnvironment() async {
        await #expect(processExitsWith: .success) {
            let own = ["TAKEN_TOKEN": "first-canary", "TAKEN_EMPTY": "", "TAKEN_PLAIN": "a=b"]
            for (name, value) in own { unsafe setenv(name, value, 1) }
            let variables = Environment.take { $0 != "TAKEN_PLAIN" && $0.hasPrefix("TAKEN_") }
            #expect(own.allSatisfy { variables[$0.key] == $0.value })
            #expect(unsafe getenv("TAKEN_TOKEN")?.pointee == 0)
            let left = Environment.snapshot()
            #expect(left["TAKEN_TOKEN"] == "" && left["TAKEN_EMPTY"] == "" && left["TAKEN_PLAIN"] == "a=b")
            #expect(left["PATH"] == variables["PATH"])
        }
    }
}
