import Testing

/// Runs the tests of all packages. Without an entry point of our own, SwiftPM would look for tests in an index, whose writing takes a
/// tenth of the time of a build.
@main
struct TestRun {
    static func main() async {
        // SwiftPM starts this once more for tests of XCTest, of which there are none.
        guard CommandLine.arguments.contains("--testing-library") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
