import Capabilities
import Testing

@Suite("Model options")
struct ModelOptionsTests {
    @Test("Options replace those that they set, and keep the others")
    func replace() {
        var all = ModelOptions()
        (all.temperature, all.topP, all.maxTokens, all.stop) = (0.5, 0.9, 100, ["end"])
        (all.seed, all.effort, all.thinking) = (42, .high, .adaptive)
        #expect(Mirror(reflecting: all).children.count == 7, "set a new option above")
        var options = all
        options.replace(with: ModelOptions())
        #expect(options == all)
        var others = ModelOptions()
        (others.temperature, others.seed) = (0, 7)
        options.replace(with: others)
        (all.temperature, all.seed) = (0, 7)
        #expect(options == all)
        options = ModelOptions()
        options.replace(with: all)
        #expect(options == all)
    }
}
