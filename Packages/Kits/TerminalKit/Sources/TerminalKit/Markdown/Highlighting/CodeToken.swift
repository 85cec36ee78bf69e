/// What a piece of code is, as far as its colour goes.
enum CodeToken {
    case plain, keyword, string, comment, number, added, removed

    var style: Style {
        switch self {
        case .plain: Style(.cardForeground)
        case .keyword: Style(.primary, bold: true)
        case .string: Style(.accent)
        case .comment: Style(.mutedForeground, italic: true)
        case .number: Style(.chart5)
        case .added: Style(.ring, bold: true)
        case .removed: Style(.destructive)
        }
    }
}
