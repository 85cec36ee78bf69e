/// What a terminal is known to do, by what it says about itself in the environment.
enum TerminalAbilities {
    /// Whether it understands no escape sequence.
    static func isDumb(_ environment: [String: String]) -> Bool {
        let term = environment["TERM"] ?? ""
        return term.isEmpty || term == "dumb"
    }

    /// Whether it is known to follow links (OSC 8); what stands between may not pass them on.
    static func followsLinks(_ environment: [String: String]) -> Bool {
        func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
        let term = environment["TERM"] ?? ""
        if isDumb(environment) || isSet("TMUX") || isSet("STY") || term.hasPrefix("screen") || term.hasPrefix("tmux") {
            return false
        }
        if ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"].contains(term) { return true }
        let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty"]
        if let program = environment["TERM_PROGRAM"], programs.contains(program) { return true }
        if isSet("WT_SESSION") || isSet("KITTY_WINDOW_ID") { return true }
        // The first versions that followed links and did not stumble over them.
        return atLeast(5202, environment["VTE_VERSION"]) || atLeast(201_100, environment["KONSOLE_VERSION"])
    }

    private static func atLeast(_ version: Int, _ said: String?) -> Bool {
        said.flatMap { Int($0) }.map { $0 >= version } ?? false
    }
}
