/** Where a command is run: the settings that it finds, and where it reads and writes. `process` is one. */
export interface Terminal {
  env: Record<string, string | undefined>
  stdin: NodeJS.ReadableStream & { isTTY?: boolean }
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream & { isTTY?: boolean }
}
