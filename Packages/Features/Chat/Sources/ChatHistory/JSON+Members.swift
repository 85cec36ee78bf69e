import Capabilities
import JSON

extension JSON {
    /// A required member.
    func member<Value: InputValue>(_ name: String, as type: Value.Type = Value.self) throws(ValueError) -> Value {
        guard let value = try optional(name, as: Value.self) else { throw ValueError("is missing", at: [name]) }
        return value
    }

    /// An optional member. Null is the same as missing.
    func optional<Value: InputValue>(_ name: String, as type: Value.Type = Value.self) throws(ValueError) -> Value? {
        guard let object else { throw ValueError("needs an object, not \(kindName)") }
        guard let value = object[name], !value.isNull else { return nil }
        do { return try Value(json: value) } catch { throw error.under(name) }
    }

    /// An optional member, decoded.
    func optional<Value>(
        _ name: String, _ read: (JSON) throws(ValueError) -> Value
    ) throws(ValueError) -> Value? {
        guard let value: JSON = try optional(name) else { return nil }
        do { return try read(value) } catch { throw error.under(name) }
    }

    /// The elements of a required list, with their index in errors.
    func list<Element>(
        _ name: String, _ read: (JSON) throws(ValueError) -> Element
    ) throws(ValueError) -> [Element] {
        let elements: [JSON] = try member(name)
        do { return try JSON.array(elements).list(read) } catch { throw error.under(name) }
    }

    /// The elements of a list, with their index in errors.
    func list<Element>(_ read: (JSON) throws(ValueError) -> Element) throws(ValueError) -> [Element] {
        guard let elements = array else { throw ValueError("needs a list, not \(kindName)") }
        var result: [Element] = []
        result.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do { result.append(try read(element)) } catch { throw error.under(String(index)) }
        }
        return result
    }
}

extension JSONObject {
    /// Sets a member if there is a value.
    mutating func add(_ name: String, _ value: (some OutputValue)?) {
        if let value { self[name] = value.json }
    }
}

extension JSONReading {
    /// For the input of tools, which may nest as deeply as the model wrote it.
    static var deep: JSONReading {
        var reading = JSONReading.strict
        reading.maxDepth = deepest
        return reading
    }
}
