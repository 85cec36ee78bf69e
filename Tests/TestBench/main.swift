import CommandLineFrontend
import Glibc
import Registry

if CommandLine.arguments.dropFirst().first == "reach" {
    exit(ReachProgram.run(Array(CommandLine.arguments.dropFirst(2))))
}
let program = CommandLineProgram(
    name: "test-bench", version: "1.0",
    features: [
        BuiltInFeature(LabFeature.self), BuiltInFeature(SteadyFeature.self), BuiltInFeature(BrokenFeature.self),
    ])
exit(program.run(CommandLine.arguments))
