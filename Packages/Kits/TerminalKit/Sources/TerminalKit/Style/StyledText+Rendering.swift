extension StyledText {
    /// The text as a terminal of `level` takes it; every escape sequence of styled text is made here.
    public func bytes(level: ColorLevel, theme: Theme = .dark) -> [UInt8] {
        Array(rendered(level: level, theme: theme).utf8)
    }

    /// The same as ``bytes(level:theme:)``, as a string.
    public func rendered(level: ColorLevel, theme: Theme = .dark) -> String {
        guard level != .none else { return plainText }
        var output = ""
        var link: LinkTarget?
        for run in runs {
            if run.style.link != link {
                link = run.style.link
                output += Self.hyperlink(link)
            }
            let parameters = run.style.parameters(level: level, theme: theme)
            output += parameters.isEmpty ? run.text : "\u{1B}[\(parameters)m\(run.text)\u{1B}[0m"
        }
        return link == nil ? output : output + Self.hyperlink(nil)
    }

    /// "Operating system command" 8: the text that follows leads to `target`, or no longer anywhere.
    private static func hyperlink(_ target: LinkTarget?) -> String { "\u{1B}]8;;\(target?.address ?? "")\u{1B}\\" }
}

extension Style {
    /// The parameters of the "select graphic rendition" sequence, separated by semicolons.
    fileprivate func parameters(level: ColorLevel, theme: Theme) -> String {
        var parts: [String] = []
        if bold { parts.append("1") }
        if dim { parts.append("2") }
        if italic { parts.append("3") }
        if underline { parts.append("4") }
        if strikethrough { parts.append("9") }
        if let color = token.flatMap(theme.textColor) {
            switch theme.usesTerminalColors ? min(level, .ansi16) : level {
            case .none: break
            case .ansi16: parts.append("\(color.ansi16(isLight: theme.isLight))")
            case .ansi256: parts.append("38;5;\(color.xterm256)")
            case .truecolor:
                let (red, green, blue) = color.rgb
                parts.append("38;2;\(red);\(green);\(blue)")
            }
        }
        return parts.joined(separator: ";")
    }
}
