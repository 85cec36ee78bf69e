import Bundles
import Expressions
import JSON
import YAMLKit

/// What YAML says is within its limits, has its places in the text, and is the same when it is written as JSON.
func readYAML(_ bytes: [UInt8]) throws {
    var limits = YAMLLimits()
    // Smaller than in life, so that they are met.
    (limits.values, limits.depth) = (2_000, 16)
    let document = try YAMLDocument(parsing: bytes, name: "fuzz", limits: limits)
    var count = 0
    check(document.value, [], depth: 0) { path, depth in
        count += 1
        precondition(depth <= limits.depth && count <= limits.values, "a limit was passed")
        // A text that is empty says nothing anywhere.
        guard let place = document.position(of: path) else { return precondition(document.value == [:], "no place") }
        precondition((1...bytes.count + 1).contains(place.line) && place.column >= 1, "\(path) is elsewhere")
    }
    // All JSON is YAML but for a few characters, and for keys that are longer than libyaml looks ahead.
    let text = document.value.text().unicodeScalars.map { isPlain($0) ? String($0) : "\\u\(hexadecimal($0))" }.joined()
    let again: YAMLDocument
    do { again = try YAMLDocument(parsing: Array(text.utf8), name: "again", limits: limits) } catch {
        precondition(hasLongKey(document.value), "\(text) is not read again: \(error.message)")
        return
    }
    precondition(again.value == document.value, "\(text) reads as another value")
}

private func check(_ value: JSON, _ path: [String], depth: Int, _ visit: ([String], Int) -> Void) {
    visit(path, depth)
    switch value {
    case .array(let items):
        for (index, item) in items.enumerated() { check(item, path + [String(index)], depth: depth + 1, visit) }
    case .object(let members):
        for (name, member) in members { check(member, path + [name], depth: depth + 1, visit) }
    default: break
    }
}

/// Whether it stands for itself in YAML: it ends no line there, and is none that must not be there.
private func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: false
    default: true
    }
}

private func hexadecimal(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
}

private func hasLongKey(_ value: JSON) -> Bool {
    switch value {
    case .array(let items): items.contains(where: hasLongKey)
    case .object(let members): members.contains { JSON.string($0.0).text().utf8.count > 1_000 || hasLongKey($0.1) }
    default: false
    }
}

/// An expression has one value, or one error with a place in its text, and its value is within the limit.
func evaluate(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    var scope = Scope(
        [
            "inputs": ["a": 1, "b": "two", "c": [1, 2, 3], "d": ["e": 0.5]], "env": ["x": "$(y)"],
            "steps": ["s": ["result": ["text": "${{ 1 }}"], "results": [[], [:]]]],
        ], hasSucceeded: bytes.count % 2 == 0)
    scope.limit = 1 << 16
    try evaluate(text, in: scope)
    // As part of a text, whatever is around it.
    let template = try Template(parsing: "<" + text + ">")
    let value = try template.value(in: scope)
    precondition(!template.isPlain || value == .string("<" + text + ">"), "a text was changed")
}

private func evaluate(_ text: String, in scope: Scope) throws {
    let expression: Expression
    let length = text.unicodeScalars.count
    do { expression = try Expression(parsing: text) } catch {
        precondition(error.offset >= 0 && error.offset <= length, "the error has no place")
        return
    }
    precondition(expression.references.allSatisfy { !$0.path.isEmpty && $0.offset < length }, "a name has no place")
    let first = Result { () throws(ExpressionError) in try expression.value(in: scope) }
    let second = Result { () throws(ExpressionError) in try expression.value(in: scope) }
    switch (first, second) {
    case (.success(let value), .success(let again)):
        precondition(value == again, "an expression has two values")
        // What was written out in the expression itself is as large as it is.
        precondition((value.string?.utf8.count ?? 0) <= max(scope.limit, text.utf8.count), "it is too large")
    case (.failure(let error), .failure(let again)):
        precondition(error == again && error.offset >= 0 && error.offset <= length, "the error has no place")
    default: preconditionFailure("an expression has a value and has none")
    }
}

/// Any file is a bundle or a list of problems, each with a place.
func readBundle(_ bytes: [UInt8]) throws {
    for file in ["fuzz.yaml", "fuzz.json5"] {
        do {
            let bundle = try Bundle(BundleSource(bytes, file: file))
            precondition(!bundle.name.isEmpty && !bundle.allSteps.isEmpty, "a bundle lacks what each has")
        } catch {
            precondition(!error.problems.isEmpty, "nothing is wrong with what is refused")
            let havePlaces = error.problems.allSatisfy { $0.file == file && $0.line > 0 && $0.column > 0 }
            precondition(havePlaces, "a problem has no place")
        }
    }
}
