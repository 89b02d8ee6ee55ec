const atOnce = 8

/** Does something with each item, a few at a time. Where it throws, no further item is begun. */
export async function each<Item>(items: Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const rest = oneByOne(items)
  const worker = async () => {
    for (const item of rest) await act(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

// A loop that throws ends the generator, and so the loops of the other workers.
function* oneByOne<Item>(items: Item[]): Generator<Item, void> {
  yield* items
}
