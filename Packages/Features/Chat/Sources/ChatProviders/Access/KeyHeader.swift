import HTTPCore

/// How requests carry a key.
enum KeyHeader: Sendable {
    case bearer
    case named(String)

    func put(_ key: String, into headers: inout HTTPHeaders) {
        switch self {
        case .bearer: headers["Authorization"] = "Bearer \(key)"
        case .named(let name): headers[name] = key
        }
    }
}
