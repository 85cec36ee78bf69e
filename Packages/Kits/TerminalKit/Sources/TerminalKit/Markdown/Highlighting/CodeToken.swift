/// What a piece of code is, as far as its colour goes.
enum CodeToken {
    case plain, keyword, string, comment, number, added, removed

    var style: Style {
        switch self {
        case .plain: Style(.cardForeground)
        case .keyword: Style(.keyword)
        case .string: Style(.string)
        case .comment: Style(.comment, italic: true)
        case .number: Style(.number)
        case .added: Style(.added)
        case .removed: Style(.removed)
        }
    }
}
