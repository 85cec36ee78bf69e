// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")
let cryptography: Target.Dependency = .product(name: "Cryptography", package: "Cryptography")
let loopKit: Target.Dependency = .product(name: "LoopKit", package: "LoopKit")
let sshClient: Target.Dependency = .product(name: "SSHClient", package: "SSHKit")

let package = Package(
    name: "SSH",
    products: [.library(name: "SSH", targets: ["SSH"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/LoopKit"), .package(path: "../../Kits/ProcessKit"),
        .package(path: "../../Kits/SSHKit"),
    ],
    targets: [
        .target(name: "SSH", dependencies: [core, cryptography, loopKit, sshClient]),
        .testTarget(
            name: "SSHTests",
            dependencies: [
                "SSH", core, .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), loopKit,
                .product(name: "ProcessKit", package: "ProcessKit"), sshClient,
                .product(name: "SSHTesting", package: "SSHKit"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
