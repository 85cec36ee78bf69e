/// The words that start a browser, found without a shell.
struct BrowserCommand: Sendable, Hashable {
    let program: String
    let arguments: [String]

    /// The commands to try in order; none where nobody would see a browser.
    static func candidates(for url: String, environment: [String: String]) -> [BrowserCommand] {
        let named = environment["BROWSER"] ?? ""
        var commands = named.split(separator: ":").compactMap { BrowserCommand($0, url: url) }
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
        // The display of a session over ssh is another machine's, whose browser would not find this one's port.
        let isRemote = ["SSH_CONNECTION", "SSH_TTY"].contains { environment[$0]?.isEmpty == false }
        if hasDisplay && !isRemote { commands.append(BrowserCommand(program: "xdg-open", arguments: [url])) }
        return commands
    }

    init(program: String, arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// One part of `BROWSER`: words in which `%s` stands for the address and `%%` for a percent sign.
    private init?(_ text: Substring, url: String) {
        var words = text.split(separator: " ").map { Self.filled(String($0), url) }
        guard !words.isEmpty else { return nil }
        if !Self.hasPlace(text) { words.append(url) }
        program = words.removeFirst()
        arguments = words
    }

    private static func hasPlace(_ text: Substring) -> Bool {
        var isEscape = false
        for character in text {
            if isEscape, character == "s" { return true }
            isEscape = !isEscape && character == "%"
        }
        return false
    }

    private static func filled(_ word: String, _ url: String) -> String {
        var (result, isEscape) = ("", false)
        for character in word {
            switch (isEscape, character) {
            case (true, "s"): result += url
            case (true, "%"): result.append("%")
            case (true, _): result += "%\(character)"
            case (false, "%"): break
            case (false, _): result.append(character)
            }
            isEscape = !isEscape && character == "%"
        }
        return isEscape ? result + "%" : result
    }
}
