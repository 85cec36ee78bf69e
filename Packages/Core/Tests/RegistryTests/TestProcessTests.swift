import CoreTesting
import Testing

@Suite("Test process", .timeLimit(.minutes(5)))
struct TestProcessTests {
    @Test("The memory of the test process is measured")
    func memory() async {
        // Tests that run at the same time use memory and free it.
        await #expect(processExitsWith: .success) {
            let before = try TestProcess.residentBytes()
            var block = [UInt8](repeating: 1, count: 64 << 20)
            block[5] = 2
            #expect(try TestProcess.residentBytes() - before > 32 << 20)
            #expect(block.count == 64 << 20 && TestProcess.processorSeconds() > 0)
        }
    }
}
