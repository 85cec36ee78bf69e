/// What requests of OTLP consist of: a span, an entry of the log, or a metric.
protocol OTLPItem: Sendable {
    /// The kind of requests that have such items.
    static var signal: OTLPSignal { get }
    /// The feature that made it. It becomes the scope.
    var scopeName: String { get }
    /// Appends the fields of the message.
    func writeProtobuf(into bytes: inout [UInt8])
    /// Appends the object.
    func writeJSON(into bytes: inout [UInt8])
}

/// Items of the same feature.
struct OTLPScope<Item: OTLPItem> {
    let name: String
    var items: [Item] = []

    /// The items of each feature, in the order of their first ones.
    static func scopes(of items: some Collection<Item>) -> [OTLPScope] {
        var scopes: [OTLPScope] = []
        var places: [String: Int] = [:]
        var last = -1
        for item in items {
            // Neighbours are often of the same feature.
            if last < 0 || scopes[last].name != item.scopeName {
                last = places[item.scopeName] ?? scopes.count
                if last == scopes.count {
                    places[item.scopeName] = last
                    scopes.append(OTLPScope(name: item.scopeName))
                }
            }
            scopes[last].items.append(item)
        }
        return scopes
    }
}
