-- How an assistant's model is asked to answer: JSON.
ALTER TABLE assistants ADD COLUMN model_options TEXT;
