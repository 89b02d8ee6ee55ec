import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A disk with a file system, which loses what was not flushed when its power is cut. */
export interface Disk {
  /** Cuts the power. Whoever has files there must be killed then. */
  cut(): Promise<void>
  /** Gives it power again, once nobody has files there. */
  plugIn(): Promise<void>
  remove(): Promise<void>
}

const mebibyte = 2 ** 20

/** What a test says that is skipped. */
export const whyNoDisks = canHaveDisks() ? '' : ' (skipped: it needs root, /dev/fuse, loop devices and mkfs.ext4)'

/** Whether this machine lets a test make one. */
export function canHaveDisks(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    closeSync(openSync('/dev/fuse', 'r+'))
    execFileSync('losetup', ['--find'], { stdio: 'ignore' })
    execFileSync('mkfs.ext4', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Makes a disk with an empty file system, and mounts it. Its own files are in `folder`. */
export async function makeDisk(folder: string, place: string, size: number, seed = 0): Promise<Disk> {
  const [platters, file] = ['platters', 'disk'].map((name) => join(folder, name))
  let program: ChildProcess
  let loop: string
  mkdirSync(folder, { recursive: true })
  mkdirSync(place, { recursive: true })
  writeFileSync(file!, '')
  const whole = openSync(platters!, 'w')
  ftruncateSync(whole, size * mebibyte)
  closeSync(whole)

  async function attach() {
    const args = [join(import.meta.dirname, 'volatile-disk.ts'), platters!, file!, String(seed)]
    program = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(program.stdout!, 'data')
    loop = run('losetup', '--find', '--show', file!)
  }

  async function cut() {
    program.kill('SIGKILL')
    await once(program, 'exit')
  }

  async function detach() {
    // A process that was killed may take a moment to close its files.
    for (let tries = 1; ; tries++)
      try {
        run('umount', place)
        break
      } catch (error) {
        if (tries === 150) throw error
        await sleep(200)
      }
    run('losetup', '--detach', loop)
    run('umount', file!)
  }

  await attach()
  run('mkfs.ext4', '-q', '-E', 'nodiscard,lazy_itable_init=0,lazy_journal_init=0', loop!)
  run('mount', loop!, place)
  return {
    cut,
    async plugIn() {
      await detach()
      await attach()
      run('mount', loop, place)
    },
    async remove() {
      await detach()
      if (program.exitCode === null && program.signalCode === null) await cut()
      rmSync(folder, { recursive: true })
    },
  }
}

function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}
