/// How many colours may be used on an output.
public enum ColorLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// No escape sequences at all, including bold.
    case none
    /// The sixteen colours that the user's own terminal theme defines.
    case ansi16
    /// The 256 colours of xterm.
    case ansi256
    /// 24 bits.
    case truecolor

    /// Fewer colours are less.
    public static func < (left: ColorLevel, right: ColorLevel) -> Bool { left.rawValue < right.rawValue }

    /// Decides from the option, the output and the environment.
    ///
    /// An explicit choice takes precedence over the environment, and `NO_COLOR` over `CLICOLOR_FORCE` and
    /// `FORCE_COLOR`.
    public static func detect(
        choice: ColorChoice = .auto, isTerminal: Bool, environment: [String: String]
    ) -> ColorLevel {
        let capable = capability(of: environment)
        switch choice {
        case .never: return .none
        case .always: return max(.ansi16, capable)
        case .auto:
            if isSet(environment["NO_COLOR"]) { return .none }
            let forced = ["CLICOLOR_FORCE", "FORCE_COLOR"].contains { name in
                isSet(environment[name]) && environment[name] != "0"
            }
            if forced { return max(.ansi16, capable) }
            return isTerminal ? capable : .none
        }
    }

    private static func capability(of environment: [String: String]) -> ColorLevel {
        guard let term = environment["TERM"], isSet(term), term != "dumb" else { return .none }
        if let color = environment["COLORTERM"], color == "truecolor" || color == "24bit" { return .truecolor }
        return term.hasSuffix("-256color") ? .ansi256 : .ansi16
    }

    private static func isSet(_ value: String?) -> Bool { !(value ?? "").isEmpty }
}

/// The value of `--color`.
public enum ColorChoice: String, Sendable, Hashable, CaseIterable {
    /// Colour if the output is a terminal with colours.
    case auto
    /// Colour even for a file or a pipe.
    case always
    /// No colour.
    case never
}
