import Capabilities

/// How people are addressed.
enum Tone: String, Choice {
    case friendly, formal
}

/// What is said to somebody.
struct Greeting: Record {
    let name: String
    let text: String

    init(name: String, tone: Tone) {
        self.name = name
        text =
            switch tone {
            case .friendly: "Hello \(name)!"
            case .formal: "Good day, \(name)."
            }
    }

    static let fields: [Field<Greeting>] = [
        Field("name", "Who is greeted", .name) { $0.name },
        Field("text", "What is said") { $0.text },
    ]
}
