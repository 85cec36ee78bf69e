import Capabilities

/// How people are addressed.
enum Tone: String, Choice {
    case friendly, formal
}

/// A greeting for a person.
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
        Field("name", "The person", .name) { $0.name },
        Field("text", "The greeting") { $0.text },
    ]
}
