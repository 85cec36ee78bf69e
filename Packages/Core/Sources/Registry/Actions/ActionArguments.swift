import Capabilities
import JSON

/// What an action takes, as one value: for an action with more parameters than a closure can list without mixing them up.
/// Each parameter is bound to a property, which also gives it its type.
///
/// ```swift
/// struct ForecastArguments: ActionArguments {
///     var city = ""
///     var days = 0
///     var units: Units?
///
///     static let bindings = [
///         bind(\.city, .argument("city", "City to look up")),
///         bind(\.days, .option("days", "Days to look ahead", in: 1...14, default: 3)),
///         bind(\.units, .option("units", "Units of measure")),
///     ]
/// }
/// ```
public protocol ActionArguments: Sendable {
    /// Makes a value whose properties are then set, each from its parameter.
    init()
    /// The parameters in the order of the help page.
    static var bindings: [ArgumentBinding<Self>] { get }
}

extension ActionArguments {
    /// Binds a parameter to the property that gets its value.
    public static func bind<Value>(
        _ property: WritableKeyPath<Self, Value> & Sendable, _ parameter: Parameter<Value>
    ) -> ArgumentBinding<Self> {
        ArgumentBinding(property, parameter)
    }

    /// Reads what was given.
    init(reading arguments: JSONObject) throws(ValueError) {
        self.init()
        for binding in Self.bindings { try binding.set(&self, arguments) }
    }
}

/// A parameter and the property that gets its value.
public struct ArgumentBinding<Arguments>: Sendable {
    let declaration: ParameterDeclaration
    fileprivate let set: @Sendable (inout Arguments, JSONObject) throws(ValueError) -> Void

    fileprivate init<Value>(_ property: WritableKeyPath<Arguments, Value> & Sendable, _ parameter: Parameter<Value>) {
        declaration = parameter.declaration
        set = { (arguments, given) throws(ValueError) in
            arguments[keyPath: property] = try parameter.value(in: given)
        }
    }
}
