import { createNotesBroker } from './notes.ts'

/** What `purser serve` runs: purser.yaml names the file that is compiled from this one. */
export default createNotesBroker({
  folder: process.env.NOTES_FOLDER ?? 'data',
  publicUrl: process.env.NOTES_URL ?? 'http://127.0.0.1:8080',
})
