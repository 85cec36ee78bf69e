import CoreTesting
import JSON

/// Writes a value as a person might, with comments, odd spacing and every form that JSON5 allows.
struct WildWriter {
    var generator: SeededGenerator
    private(set) var text = ""
    private(set) var comments = 0
    private let lineBreak: String

    init(generator: SeededGenerator) {
        self.generator = generator
        lineBreak = self.generator.pick(["\n", "\n", "\r\n", "\r"])
        if self.generator.chance(10) { text = "\u{FEFF}" }
    }

    mutating func write(_ value: JSON) {
        space()
        switch value {
        case .array(let elements):
            text += "["
            for (place, element) in elements.enumerated() {
                write(element)
                comma(isLast: place == elements.count - 1)
            }
            space()
            text += "]"
        case .object(let object):
            text += "{"
            for (place, member) in object.enumerated() {
                space()
                key(member.key)
                space()
                text += ":"
                write(member.value)
                comma(isLast: place == object.count - 1)
            }
            space()
            text += "}"
        default: text += value.text()
        }
        space()
    }

    private mutating func key(_ key: String) {
        let plain = !key.isEmpty && key.unicodeScalars.allSatisfy { ("a"..."z").contains($0) || $0 == "$" }
        text += plain && generator.chance(50) ? key : JSON.string(key).text()
    }

    private mutating func comma(isLast: Bool) {
        if !isLast || generator.chance(30) { text += "," }
    }

    private mutating func space() {
        for _ in 0..<Int.random(in: 0...2, using: &generator) {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: comment("/*", "*/")
            case 1: comment("//", lineBreak)
            case 2: comment("//", "\u{2028}")
            case 3: comment("/*" + lineBreak, "*/")
            case 4: text += "\t"
            case 5...7: text += lineBreak + "  "
            case 8: text += "\u{A0}"
            default: text += " "
            }
        }
    }

    private mutating func comment(_ start: String, _ end: String) {
        text += start + " #note, {[\" " + end
        comments += 1
    }
}
