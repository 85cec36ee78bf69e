/// One step through a text, as libyaml takes it.
struct YAMLEvent {
    enum Kind {
        case documentStart
        case documentEnd
        case streamEnd
        case alias(String)
        case scalar(YAMLScalar)
        case listStart
        case listEnd
        case mapStart
        case mapEnd
        /// The text begins, or another step that says nothing.
        case other
    }

    let kind: Kind
    /// What other places call the value.
    var anchor: String?
    var hasTag = false
    let place: YAMLPlace
}

/// The text of a value that holds no others.
struct YAMLScalar {
    let text: String
    /// Written without quotes, so that it may be a number, a truth value or nothing.
    let isPlain: Bool
}
