import CoreTesting
import JSON
import Testing

@Suite("JSONDocument edits", .timeLimit(.minutes(5)))
struct DocumentPropertyTests {
    @Test("An edited document reads as the edited value and keeps all comments except those of removed items")
    func edits() throws {
        let seed = SeededGenerator.seed(for: "document edits")
        var random = RandomJSON(seed: seed)
        for _ in 0..<600 {
            var writer = WildWriter(generator: random.generator)
            writer.write(.object(random.object(depth: 3)))
            random.generator = writer.generator
            let document = try JSONDocument(parsing: writer.text, name: "config.json")
            let path = Self.path(in: document.value, &random)
            let comment: Comment = "seed \(seed), \(path): \(writer.text.debugDescription)"
            let value = random.value(depth: 2)
            let set = try document.setting(path, to: value)
            #expect(
                try JSON(parsing: set, reading: .json5) == Self.setting(value, at: path[...], in: document.value),
                comment)
            if !Self.replaces(path, in: document) {
                #expect(Self.comments(in: set) == writer.comments, comment)
            }
            let removed = document.removing(path)
            #expect(
                try JSON(parsing: removed, reading: .json5) == Self.removing(path[...], from: document.value), comment)
            #expect(try JSONDocument(parsing: set, name: "x").setting(path, to: value) == set, comment)
        }
    }

    private static func replaces(_ path: [String], in document: JSONDocument) -> Bool {
        document.position(of: path) != nil
    }

    private static func comments(in text: String) -> Int {
        text.split(separator: "#note").count - 1
    }

    /// A path to an existing part of the value, or to one that could be added.
    private static func path(in value: JSON, _ random: inout RandomJSON) -> [String] {
        var path: [String] = []
        var value = value
        while true {
            switch value {
            case .object(let object):
                guard !object.isEmpty, random.generator.chance(80) else { return path + ["new \(random.text())", "x"] }
                let key = random.generator.pick(object.keys)
                path.append(key)
                value = object[key] ?? .null
            case .array(let elements):
                let index = Int.random(in: 0...elements.count, using: &random.generator)
                path.append(String(index))
                guard index < elements.count else { return path }
                value = elements[index]
            default: return path
            }
            if random.generator.chance(30) { return path }
        }
    }

    private static func setting(_ new: JSON, at path: ArraySlice<String>, in value: JSON) -> JSON {
        guard let name = path.first else { return new }
        if case .array(var elements) = value, let index = Int(name) {
            let old = index < elements.count ? elements.remove(at: index) : [:]
            elements.insert(setting(new, at: path.dropFirst(), in: old), at: index)
            return .array(elements)
        }
        var object = value.object ?? JSONObject()
        object[name] = setting(new, at: path.dropFirst(), in: object[name] ?? [:])
        return .object(object)
    }

    private static func removing(_ path: ArraySlice<String>, from value: JSON) -> JSON {
        guard let name = path.first else { return value }
        switch value {
        case .object(var object):
            guard let old = object[name] else { return value }
            object[name] = path.count == 1 ? Optional.none : removing(path.dropFirst(), from: old)
            return .object(object)
        case .array(var elements):
            guard let index = Int(name), index < elements.count else { return value }
            let old = elements.remove(at: index)
            if path.count > 1 { elements.insert(removing(path.dropFirst(), from: old), at: index) }
            return .array(elements)
        default: return value
        }
    }
}
