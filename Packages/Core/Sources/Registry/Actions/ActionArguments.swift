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
    /// Binds a parameter to the property that gets its value. The key path is not made before a value is read: every
    /// command makes all bindings, to know the declarations.
    public static func bind<Value>(
        _ property: @autoclosure @escaping @Sendable () -> WritableKeyPath<Self, Value>, _ parameter: Parameter<Value>
    ) -> ArgumentBinding<Self> {
        ArgumentBinding(declaration: parameter.declaration) { (arguments, given) throws(ValueError) in
            arguments[keyPath: property()] = try parameter.value(in: given)
        }
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
}
