import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { stopStale } from './pid-files.ts'

/**
 * Starts a process that outlives this one by a moment. When this one is gone, however it died, the other stops the
 * processes that the run folder's pid files name, and removes `throwaway` if given.
 */
export function startWatchdog(runDir: string, throwaway?: string): { dismiss(): void } {
  const child = spawn(process.execPath, [import.meta.filename, runDir, ...(throwaway ? [throwaway] : [])], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.unref()
  const line = child.stdin as typeof child.stdin & { unref(): void }
  line.on('error', () => {})
  line.unref()
  return { dismiss: () => void line.destroy() }
}

if (process.argv[1] === import.meta.filename) {
  process.on('SIGINT', () => {})
  process.stdin.resume().once('close', () => void cleanUp(process.argv[2] ?? '', process.argv[3]))
}

async function cleanUp(runDir: string, throwaway: string | undefined): Promise<void> {
  if (existsSync(runDir)) await stopStale(runDir)
  if (throwaway) rmSync(throwaway, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
