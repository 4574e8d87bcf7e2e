// Says how Visual Studio Code reaches the debug adapter: it starts one, or connects to one that waits at a port.
const vscode = require("vscode");

const adapters = {
  createDebugAdapterDescriptor(session) {
    const { request, port } = session.configuration;
    if (request === "attach") {
      return new vscode.DebugAdapterServer(port, "127.0.0.1");
    }
    const folder = session.workspaceFolder && session.workspaceFolder.uri.fsPath;
    const command = vscode.workspace.getConfiguration("coopmat", session.workspaceFolder).get("command");
    return new vscode.DebugAdapterExecutable(command, ["debug", "--dap"], folder ? { cwd: folder } : {});
  },
};

exports.activate = (context) => {
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("coopmat", adapters));
};
