import { writeSync } from 'node:fs'

/**
 * Writes lines to standard output, those of one tick of the event loop together. Each write costs more than all the
 * rest of a line. A process that exits, also by an uncaught error, has written all its lines.
 */
export const logLines = { write }

const [standardOutput, tryAgainAfter] = [1, 5]
let lines = ''
process.on('exit', flush)

function write(line: string) {
  if (lines === '') setImmediate(flush)
  lines += line
}

function flush() {
  let bytes = Buffer.from(lines)
  lines = ''
  while (bytes.length > 0)
    try {
      bytes = bytes.subarray(writeSync(standardOutput, bytes))
    } catch (error) {
      // The reader of the log is gone, or there is no room for it. Calls are answered all the same.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, tryAgainAfter)
    }
}
