// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LoopKit",
    products: [.library(name: "LoopKit", targets: ["LoopKit"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .target(name: "CLoopKit"),
        .target(name: "LoopKit", dependencies: ["CLoopKit", .product(name: "Core", package: "Core")]),
        .testTarget(
            name: "LoopKitTests", dependencies: ["LoopKit", .product(name: "CoreTesting", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
