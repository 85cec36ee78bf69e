import Capabilities
import JSON

/// The arguments of an action as a single value, for actions with too many parameters for a closure. Each parameter is
/// bound to a property, which also determines its type.
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
    /// Creates a value whose properties are then set from the parameters.
    init()
    /// The parameters, in the order of the help page.
    static var bindings: [ArgumentBinding<Self>] { get }
}

extension ActionArguments {
    /// Binds a parameter to a property. The key path is created when a value is read: every command declares all actions,
    /// and a key path takes microseconds to create.
    public static func bind<Value>(
        _ property: @autoclosure @escaping @Sendable () -> WritableKeyPath<Self, Value>,
        _ parameter: @autoclosure () -> Parameter<Value>
    ) -> ArgumentBinding<Self> {
        let parameter = parameter()
        return ArgumentBinding(declaration: parameter.declaration) { (arguments, given) throws(ValueError) in
            arguments[keyPath: property()] = try parameter.value(in: given)
        }
    }

    /// Reads the given arguments.
    init(reading arguments: JSONObject) throws(ValueError) {
        self.init()
        for binding in Self.bindings { try binding.set(&self, arguments) }
    }
}

/// A parameter with its property.
public struct ArgumentBinding<Arguments>: Sendable {
    let declaration: ParameterDeclaration
    fileprivate let set: @Sendable (inout Arguments, JSONObject) throws(ValueError) -> Void
}
