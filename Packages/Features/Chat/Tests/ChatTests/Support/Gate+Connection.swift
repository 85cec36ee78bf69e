import CoreTesting
import HTTPTesting

extension Gate {
    /// Blocks a server until the gate is open, and throws when the client leaves.
    func hold(_ connection: ScriptedConnection) throws {
        while !isOpen { try connection.pause(.milliseconds(2)) }
    }
}
