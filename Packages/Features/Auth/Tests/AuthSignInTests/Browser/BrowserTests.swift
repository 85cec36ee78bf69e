import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPClient
import HTTPTesting
import ProcessKit
import Testing

@testable import AuthSignIn

@Suite("Browser selection", .timeLimit(.minutes(5)))
struct BrowserTests {
    private static let url = "https://lab.example/a?b=%20;rm%20-rf"

    private func commands(_ environment: [String: String]) -> [[String]] {
        BrowserCommand.candidates(for: Self.url, environment: environment).map { [$0.program] + $0.arguments }
    }

    @Test("BROWSER selects the browser and where the address goes")
    func named() {
        #expect(commands(["BROWSER": "firefox"]) == [["firefox", Self.url]])
        #expect(commands(["BROWSER": "a --new %s:b"]) == [["a", "--new", Self.url], ["b", Self.url]])
        #expect(commands(["BROWSER": "a --x=%s%%s %"]) == [["a", "--x=\(Self.url)%s", "%"]])
        #expect(commands(["BROWSER": "a 100%%"]) == [["a", "100%", Self.url]])
        #expect(commands(["BROWSER": ": :"]) == [])
    }

    @Test("A display on this machine selects the desktop browser")
    func desktop() {
        #expect(commands(["DISPLAY": ":0"]) == [["xdg-open", Self.url]])
        #expect(commands(["WAYLAND_DISPLAY": "w"]) == [["xdg-open", Self.url]])
        #expect(commands(["DISPLAY": ":0", "BROWSER": "b"]) == [["b", Self.url], ["xdg-open", Self.url]])
    }

    @Test("Without a display, or over ssh, only BROWSER gives a browser")
    func headless() {
        #expect(!Browser(environment: ["PATH": "/usr/bin"]).isAvailable)
        #expect(!Browser(environment: ["DISPLAY": ""]).isAvailable)
        #expect(!Browser(environment: ["DISPLAY": ":10", "SSH_CONNECTION": "a b"]).isAvailable)
        #expect(!Browser(environment: ["DISPLAY": ":10", "SSH_TTY": "/dev/pts/1"]).isAvailable)
        #expect(Browser(environment: ["BROWSER": "code", "SSH_TTY": "/dev/pts/1"]).isAvailable)
    }

    @Test(
        "The address is passed as one argument without a shell, and the browser outlives the call",
        arguments: [false, true])
    func opens(isSlow: Bool) async throws {
        try await TemporaryDirectory.run { directory in
            let (program, pipe) = ("\(directory)/browser", "\(directory)/pipe")
            let isThere = unsafe mkfifo(pipe, 0o600) == 0
            try #require(isThere)
            // Opening the pipe waits for its reader, so the browser is still running when `open` has returned.
            let script = "#!/bin/sh\nprintf '%s|%s|%s' \"$#\" \"$1\" \"${SOME_TOKEN-none}\" > '\(pipe)'\n"
            try Files.writeAtomically(Array(script.utf8), to: program, mode: 0o700)
            if isSlow {
                let slow = "#!/bin/sh\n(sleep 0.2; exec /usr/bin/setsid \"$@\") &\n"
                try Files.writeAtomically(Array(slow.utf8), to: "\(directory)/setsid", mode: 0o700)
            }
            let path = "\(directory):/usr/bin:/bin"
            let environment = ["BROWSER": "/nowhere/at-all:\(program)", "PATH": path, "SOME_TOKEN": "t"]
            let url = try HTTPURL(Self.url)
            let isOpened = await Caller.$current.withValue(.person(HeadlessInteraction())) {
                await Browser(environment: environment).open(url)
            }
            #expect(isOpened)
            let reader = Command("cat", [pipe], environment: ["PATH": "/usr/bin:/bin"])
            let written = try await Launcher.standalone.run(reader, timeout: .seconds(30)).output
            #expect(String(decoding: written, as: UTF8.self) == "1|\(Self.url)|none")
        }
    }

    @Test("A browser that cannot be started is not an error")
    func missing() async throws {
        let url = try HTTPURL(Self.url)
        #expect(await !Browser(environment: [:]).open(url))
        #expect(await !Browser(environment: ["BROWSER": "no-such-browser", "PATH": "/usr/bin"]).open(url))
        #expect(await !Browser(environment: ["BROWSER": "./relative:/etc/passwd:/tmp", "PATH": "/usr/bin"]).open(url))
    }
}
