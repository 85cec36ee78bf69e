import CommandLineFrontend
import Glibc
import Registry
import ServeFrontend
import ServeTesting

// The whole program with what tests serve.
let program = CommandLineProgram(
    name: "martlet", version: "1.0", features: [BuiltInFeature(LabFeature.self), BuiltInFeature(ServeFeature.self)])
exit(program.run(CommandLine.arguments))
