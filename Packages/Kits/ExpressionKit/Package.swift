// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")

let package = Package(
    name: "ExpressionKit",
    products: [.library(name: "ExpressionKit", targets: ["ExpressionKit"])],
    dependencies: [.package(path: "../../Core")],
    targets: [
        .target(name: "ExpressionKit", dependencies: [core]),
        .testTarget(
            name: "ExpressionKitTests",
            dependencies: ["ExpressionKit", core, .product(name: "CoreTesting", package: "Core")]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
