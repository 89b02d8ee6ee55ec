// A program: writes how many bytes reach the old generation while entries come and go in a map, the worst of three
// tries. Its argument is the kind of map. In a process with other work, that would be measured, too.
import { getHeapSpaceStatistics } from 'node:v8'
import { BriefMap } from '#lib/brief-map'

const make = process.argv[2] === 'brief' ? () => new BriefMap<string, object>() : () => new Map<string, object>()

// A major collection may come between.
console.log(Math.max(...[1, 2, 3].map(() => grownOld())))

function grownOld(): number {
  const map = make()
  const add = (i: number) =>
    map.set(
      `${i}`,
      Array.from({ length: 100 }, () => ({ i })),
    )
  for (let i = 0; i < 64; i++) add(i)
  // Now the table is old.
  globalThis.gc!()
  const before = oldBytes()
  for (let i = 64; i < 20_000; i++) {
    add(i)
    map.delete(`${i - 64}`)
  }
  return oldBytes() - before
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!.space_used_size
}
